/** Runs a sync task of a link now, for somebody who does not want to wait for its period. Called by the engine. */
import { linkError } from '../errors.ts'
import { taskNames } from '../views/link-view.ts'
import { type OperationContext, requireLink } from './operation-context.ts'

/** Returns at once. Throws LINK_NOT_FOUND, or TASK_NOT_CONFIGURED for one that the link does not run. */
export function runTask(context: OperationContext, link: string, name: string): void {
  const runtime = context.runtime(requireLink(context, link).linkId)
  const isRun = (task: string) => runtime?.task(task)?.isConfigured === true
  if (!taskNames.includes(name) || !isRun(name))
    throw linkError('TASK_NOT_CONFIGURED', { task: name, link, known: taskNames.filter(isRun) })
  runtime?.task(name)?.start()
}

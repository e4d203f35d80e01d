/** `lockstep mirror move` */
import type { MoveMirrorsAnswer } from '../../../rest/schemas/placement.ts'
import type { CommandAction } from '../../command-row.ts'
import { wholeNumber } from '../../number-option.ts'
import { mirrorsPath } from '../../resource-paths.ts'
import { printMoved } from '../moved-partitions.ts'

interface Options {
  readonly link: string
  readonly to: string
  readonly partition?: string
  readonly dryRun?: boolean
}

export const moveMirrors: CommandAction<Options> = async (context, names, { link, to, partition, dryRun }) => {
  const only = wholeNumber('--partition', partition)
  const body = {
    mirror_topic_names: names,
    node_id: wholeNumber('--to', to),
    ...(only === undefined ? {} : { partition_id: only }),
  }
  const path = `${mirrorsPath(link)}:move${dryRun === true ? '?validate_only=true' : ''}`
  const { data } = await context.rest.post<MoveMirrorsAnswer>(path, { body })
  printMoved(context, data, `Node ${to} leads all of it already.`)
}

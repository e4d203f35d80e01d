/** Buttons of what may be done with mirrors now, as the node says in `allowed_actions`. Shown for one mirror and for many. */
import { useSignal } from '@preact/signals'
import { factsOfVerb } from '../../rest/schemas/mirror-verbs.ts'
import type { MirrorRow } from '../live/mirror-rows.ts'
import { Button } from '../parts/button.tsx'
import { DeleteMirrors } from './delete-mirrors.tsx'
import { VerbDialog } from './verb-dialog.tsx'
import { textOf } from './verbs.ts'

const isDanger = (verb: string): boolean => verb === 'delete' || factsOfVerb(verb)?.losesData === true

/** What loses nothing first. */
const inOrder = (verbs: ReadonlySet<string>): string[] =>
  [...verbs].sort((a, b) => Number(isDanger(a)) - Number(isDanger(b)))

type Acted = Pick<MirrorRow, 'name' | 'actions'>

export function MirrorActions({ link, mirrors }: { readonly link: string; readonly mirrors: readonly Acted[] }) {
  const asked = useSignal<{ readonly verb: string; readonly topics: readonly string[] } | undefined>(undefined)
  const verbs = inOrder(new Set(mirrors.flatMap(({ actions }) => actions)))
  const close = () => (asked.value = undefined)
  return (
    <div class="actions">
      {verbs.map(verb => {
        const topics = mirrors.filter(({ actions }) => actions.includes(verb)).map(({ name }) => name)
        return (
          <Button
            key={verb}
            tone={isDanger(verb) ? 'danger' : 'plain'}
            hint={textOf(verb).what}
            onClick={() => (asked.value = { verb, topics })}
          >
            {textOf(verb).label}
            {topics.length < mirrors.length ? ` ${topics.length}` : ''}
          </Button>
        )
      })}
      {asked.value === undefined ? null : asked.value.verb === 'delete' ? (
        <DeleteMirrors link={link} topics={asked.value.topics} close={close} />
      ) : (
        <VerbDialog link={link} {...asked.value} close={close} />
      )}
    </div>
  )
}

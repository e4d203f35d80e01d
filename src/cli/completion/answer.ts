/** Answers a completion script: a candidate a line, with a tab and its meaning; `:files` stands for files. Never fails and never waits long. */
import type { CommandRow, Completion } from '../command-row.ts'
import type { CliEnvironment } from '../context.ts'
import { type EndpointFlags, resolveEndpoint } from '../endpoint.ts'
import { linkPath, mirrorsPath } from '../resource-paths.ts'
import { RestClient } from '../rest-client.ts'
import { type Candidate, type Place, placeOf } from './candidates.ts'

/** Whoever pressed Tab waits. */
const TIMEOUT_MS = 1500
/** More names than this help nobody. */
const NAMES_MAX = 1000

export async function answerCompletion(
  rows: readonly CommandRow[],
  words: readonly string[],
  { terminal, env }: CliEnvironment,
): Promise<void> {
  const place = placeOf(rows, words)
  if (place.names === 'files') return terminal.out(':files\n')
  const names = place.names === undefined ? [] : await lookUp(place.names, place, env)
  const last = words.at(-1) ?? ''
  const taken = new Set(place.args)
  const found: Candidate[] = names
    .filter(name => !taken.has(name))
    .slice(0, NAMES_MAX)
    .map(name => ({ word: place.prefix + name, text: '' }))
  for (const { word, text } of [...place.candidates, ...found])
    if (word.startsWith(last)) terminal.out(text === '' ? `${word}\n` : `${word}\t${text}\n`)
}

/** Names that the node knows; none when it does not answer soon, or not like that. */
async function lookUp(kind: Completion, place: Place, env: NodeJS.ProcessEnv): Promise<string[]> {
  try {
    const rest = new RestClient(() => resolveEndpoint(flagsOf(place.given), env), TIMEOUT_MS)
    const lookup = typeof kind === 'string' ? LOOKUPS[kind] : undefined
    if (!lookup) return []
    const { path, field } = lookup(place.given.get('--link'), place.args)
    const answer = await rest.get<{ data?: Named[]; tasks?: Named[] }>(path)
    const data = answer.data ?? answer.tasks ?? []
    return [...new Set(data.map(item => item[field]).filter(name => name !== undefined))].sort()
  } catch {
    return []
  }
}

type Field =
  | 'link_name'
  | 'mirror_topic_name'
  | 'source_topic_name'
  | 'topic_name'
  | 'task_name'
  | 'group_id'
  | 'consumer_group_id'
type Named = { readonly [field in Field]?: string }
type Lookup = (link: string | undefined, args: readonly string[]) => { readonly path: string; readonly field: Field }

const LOOKUPS: { readonly [kind in Extract<Completion, string>]?: Lookup } = {
  links: () => ({ path: '/links', field: 'link_name' }),
  mirrors: link => ({ path: mirrorsPath(link ?? '-'), field: 'mirror_topic_name' }),
  'source-topics': link =>
    link === undefined
      ? { path: mirrorsPath('-'), field: 'source_topic_name' }
      : { path: `${linkPath(link)}/source-topics`, field: 'source_topic_name' },
  topics: () => ({ path: '/topics', field: 'topic_name' }),
  tasks: (_link, [link = '']) => ({ path: `${linkPath(link)}?include_tasks=true`, field: 'task_name' }),
  groups: link =>
    link === undefined
      ? { path: '/consumer-groups', field: 'consumer_group_id' }
      : { path: `${linkPath(link)}/groups`, field: 'group_id' },
}

function flagsOf(given: ReadonlyMap<string, string>): EndpointFlags {
  const flag = <K extends string>(key: K, name: string) => {
    const value = given.get(name)
    return (value === undefined ? {} : { [key]: value }) as { readonly [name in K]?: string }
  }
  return {
    ...flag('url', '--url'),
    ...flag('certificateAuthorityPath', '--certificate-authority-path'),
    ...flag('clientCertPath', '--client-cert-path'),
    ...flag('clientKeyPath', '--client-key-path'),
    ...(given.has('--no-authentication') ? { authentication: false } : {}),
  }
}

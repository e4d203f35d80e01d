/** Paths of the API below the cluster of the node; everything that asks the node uses them. */
import { signal } from '@preact/signals'

/** The cluster of the node; undefined until it has told. */
export const clusterId = signal<string | undefined>(undefined)

/** A path of names; each may hold anything. */
export const clusterPath = (...parts: readonly string[]): string =>
  ['/kafka/v3/clusters', clusterId.peek() ?? '-', ...parts.map(encodeURIComponent)].join('/')

export const linkPath = (link: string, ...parts: readonly string[]): string => clusterPath('links', link, ...parts)
export const mirrorPath = (link: string, topic: string, ...parts: readonly string[]): string =>
  linkPath(link, 'mirrors', topic, ...parts)
/** `verb` acts on mirrors of the link. */
export const mirrorVerbPath = (link: string, verb: string): string => `${linkPath(link, 'mirrors')}:${verb}`

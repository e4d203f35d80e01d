/** Paths of REST resources below the cluster, with the names in them encoded. Called by the commands. */

export const linkPath = (link: string): string => `/links/${encodeURIComponent(link)}`
export const mirrorsPath = (link: string): string => `${linkPath(link)}/mirrors`
export const mirrorPath = (link: string, topic: string): string => `${mirrorsPath(link)}/${encodeURIComponent(topic)}`
export const topicPath = (topic: string): string => `/topics/${encodeURIComponent(topic)}`

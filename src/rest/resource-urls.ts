/** How resources are named in answers: parts of paths, and resource names of the plain v3 resources. Routes use it. */

/** One part of a path: names may hold whatever their owners liked, of groups even slashes. */
export const segment = (name: string | number): string => encodeURIComponent(name)

/** `crn:///kafka=CLUSTER/topic=orders/partition=1` */
export const resourceName = (clusterId: string, parts: Readonly<Record<string, string | number>> = {}): string =>
  `crn:///${Object.entries({ kafka: clusterId, ...parts })
    .map(([name, value]) => `${name}=${value}`)
    .join('/')}`

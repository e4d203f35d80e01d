/** Placement of partitions behind REST's port: of a joined node by its mover and watches, of a standalone one refused. Called by the composition root. */
import type { Evictor } from '../../controller/joined/placement/evictor.ts'
import type { MirrorMover } from '../../controller/joined/placement/mirror-mover.ts'
import type { MirrorWatch } from '../../controller/joined/placement/mirror-watch.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { restError } from '../../rest/errors.ts'
import type { PlacementAdmin } from '../../rest/placement-ports.ts'

/** There is one node, and everything is on it. */
export const standalonePlacement: PlacementAdmin = {
  move: async () => Promise.reject(restError('NOT_JOINED', undefined)),
  drain: async () => Promise.reject(restError('NOT_JOINED', undefined)),
  resume: async () => Promise.reject(restError('NOT_JOINED', undefined)),
  foreignPartitions: () => [],
  misplacedPartitions: () => [],
}

export const joinedPlacement = (of: {
  readonly controller: Pick<Controller, 'image'>
  readonly mover: Pick<MirrorMover, 'move' | 'drain' | 'resume'>
  readonly evictor: Pick<Evictor, 'foreignPartitions'>
  readonly watch: Pick<MirrorWatch, 'misplacedPartitions'>
}): PlacementAdmin => ({
  move: ({ node, topics, partition }, { validateOnly }) => {
    const { topicIds: idByName } = of.controller.image
    const topicIds = topics.flatMap(name => idByName.get(name) ?? [])
    return of.mover.move({ node, topicIds, partition }, { dryRun: validateOnly })
  },
  drain: (node, { validateOnly }) => of.mover.drain(node, { dryRun: validateOnly }),
  resume: node => of.mover.resume(node),
  foreignPartitions: () => of.evictor.foreignPartitions(),
  misplacedPartitions: () => of.watch.misplacedPartitions(),
})

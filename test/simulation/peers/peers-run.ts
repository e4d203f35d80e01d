// Everything of one run: the two sides, who uses them, and those who watch.
import { ForkWatch } from './fork-watch.ts'
import { GroupWatch } from './group-watch.ts'
import { LossWatch } from './loss-watch.ts'
import { PeerClients } from './peer-clients.ts'
import { PeersWorld } from './peers-world.ts'

export class PeersRun {
  readonly world: PeersWorld
  readonly clients: PeerClients
  readonly forks: ForkWatch
  readonly groups: GroupWatch
  readonly losses: LossWatch

  constructor(seed: number) {
    this.world = new PeersWorld(seed)
    this.clients = new PeerClients(this.world)
    this.forks = new ForkWatch(this.world)
    this.groups = new GroupWatch(this.world, this.clients)
    this.losses = new LossWatch(this.world, this.clients)
  }

  look(): void {
    this.forks.look()
    this.losses.look()
  }
}

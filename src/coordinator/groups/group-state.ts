/** The states of a classic group and which may follow which, as a table; ClassicGroup holds to it, list and describe answers name them. */

/** As clients see them. */
export const groupStates = ['Empty', 'PreparingRebalance', 'CompletingRebalance', 'Stable', 'Dead'] as const
export type GroupState = (typeof groupStates)[number]

/**
 * Empty: no members; kept for its offsets. PreparingRebalance: waits until all members have joined again. CompletingRebalance:
 * waits for the leader's assignment. Stable: every member may fetch its assignment. Dead: deleted, or served by another node.
 */
const successors: Readonly<Record<GroupState, readonly GroupState[]>> = {
  Empty: ['PreparingRebalance', 'Dead'],
  PreparingRebalance: ['CompletingRebalance', 'Empty', 'Dead'],
  CompletingRebalance: ['PreparingRebalance', 'Stable', 'Dead'],
  Stable: ['PreparingRebalance', 'Dead'],
  Dead: ['Dead'],
}

export const mayFollow = (state: GroupState, next: GroupState): boolean => successors[state].includes(next)

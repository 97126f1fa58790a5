import type { Window } from '../hot-state.ts'

/** Time that a publication adds to the windows of an entry. */
export type AddedTime = {
  readonly windows: readonly Window[]
  /** End of each window that is already listed, by window id. Slots before it are already included. */
  readonly listedTo: ReadonlyMap<string, number>
  readonly fromSecond: number
  readonly toSecond: number
}

/** Returns the added time, or undefined if no window is new or longer. */
export function addedTime(
  before: readonly Window[],
  windows: readonly Window[],
): AddedTime | undefined {
  const listedTo = new Map(before.map(({ id, toSecond }) => [id, toSecond]))
  const added = windows
    .map(({ id, fromSecond, toSecond }) => [listedTo.get(id) ?? fromSecond, toSecond] as const)
    .filter(([fromSecond, toSecond]) => fromSecond < toSecond)
  if (added.length === 0) return undefined
  return {
    windows,
    listedTo,
    fromSecond: Math.min(...added.map(([fromSecond]) => fromSecond)),
    toSecond: Math.max(...added.map(([, toSecond]) => toSecond)),
  }
}

/** Returns the windows as listed while time is added up to the frontier, followed by those that will be withdrawn. */
export function listedMeanwhile(
  before: readonly Window[],
  { windows, listedTo }: AddedTime,
  frontier: number,
): Window[] {
  const begun = windows
    .map((window) => {
      const end = Math.max(frontier, listedTo.get(window.id) ?? frontier)
      return { ...window, toSecond: Math.min(window.toSecond, end) }
    })
    .filter(({ fromSecond, toSecond }) => fromSecond < toSecond)
  return [...begun, ...before.filter(({ id }) => !begun.some((window) => window.id === id))]
}

import type { Window } from '../hot-state.ts'

/** Time that is added to the windows of an entry when others are published. */
export type AddedTime = {
  readonly windows: readonly Window[]
  /** Where the windows end that are listed already; what waited in earlier time is in them. */
  readonly listedTo: ReadonlyMap<string, number>
  readonly fromSecond: number
  readonly toSecond: number
}

/** Undefined when no window is new or has grown. */
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

/** The windows as they are listed while time is added up to the frontier, and behind them those that are to go. */
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

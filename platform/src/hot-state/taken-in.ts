import type { Entry } from './hot-state.ts'

/** A move of the amounts of one window into another. */
export type WindowMove = { readonly window: string; readonly into: string }

export function takenIn({ windows }: Pick<Entry, 'windows'>): WindowMove[] {
  return windows.flatMap(({ id, takesIn = [] }) => takesIn.map((window) => ({ window, into: id })))
}

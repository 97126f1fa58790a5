import type { Entry } from './hot-state.ts'

/** What the first window counted counts in the second. */
export type WindowMove = { readonly window: string; readonly into: string }

export function takenIn({ windows }: Pick<Entry, 'windows'>): WindowMove[] {
  return windows.flatMap(({ id, takesIn = [] }) => takesIn.map((window) => ({ window, into: id })))
}

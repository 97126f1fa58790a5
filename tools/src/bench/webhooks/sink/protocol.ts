export type SinkQuestion = 'count' | 'list' | 'forget'

/** A delivery, the number of its requests, and the time of the first one in Unix milliseconds. */
export type Taken = readonly [delivery: string, times: number, atMs: number]

export type SinkAnswer =
  | { readonly port: number }
  | { readonly distinct: number; readonly hanging: number }
  | { readonly taken: readonly Taken[] }

export type SinkQuestion = 'count' | 'list' | 'forget'

/** Delivery, how often it came, and when it first did, in Unix milliseconds. */
export type Taken = readonly [delivery: string, times: number, atMs: number]

export type SinkAnswer =
  | { readonly port: number }
  | { readonly distinct: number; readonly hanging: number }
  | { readonly taken: readonly Taken[] }

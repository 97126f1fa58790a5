export type SinkRequest = 'count' | 'list' | 'reset'

/** A delivery, the number of its requests, and the time of the first one in Unix milliseconds. */
export type ReceivedDelivery = readonly [delivery: string, times: number, atMs: number]

export type SinkResponse =
  | { readonly port: number }
  | { readonly distinct: number; readonly hanging: number }
  | { readonly received: readonly ReceivedDelivery[] }

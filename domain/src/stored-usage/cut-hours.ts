import { storableMs } from './storable-time.ts'

/** Half-open, in Unix milliseconds. */
export type TimeSpan = { readonly fromMs: number; readonly toMs: number }

/** A window and the hours that are completely within it. Without such an hour, `wholeFromMs` equals `wholeToMs`. */
export type SummedWindow = TimeSpan & {
  readonly meterName: string | undefined
  readonly wholeFromMs: number
  readonly wholeToMs: number
}

const hourMs = 3_600_000

export function summedWindow({
  fromSecond,
  toSecond,
  meterName,
}: {
  readonly fromSecond: number
  readonly toSecond: number
  readonly meterName: string | undefined
}): SummedWindow {
  const fromMs = storableMs(fromSecond * 1000)
  const toMs = storableMs(toSecond * 1000)
  const wholeFromMs = Math.ceil(fromMs / hourMs) * hourMs
  const wholeToMs = Math.max(wholeFromMs, Math.floor(toMs / hourMs) * hourMs)
  return { fromMs, toMs, meterName, wholeFromMs, wholeToMs }
}

/** Returns the times of the windows that are not in their whole hours, each once. A window has at most two, each below one hour. */
export function cutHours(windows: readonly SummedWindow[]): TimeSpan[] {
  const spans = windows.flatMap(({ fromMs, toMs, wholeFromMs, wholeToMs }) =>
    wholeFromMs === wholeToMs
      ? [{ fromMs, toMs }]
      : [
          { fromMs, toMs: wholeFromMs },
          { fromMs: wholeToMs, toMs },
        ],
  )
  const cut = spans.filter(({ fromMs, toMs }) => fromMs < toMs)
  return [...new Map(cut.map((span) => [`${span.fromMs} ${span.toMs}`, span])).values()]
}

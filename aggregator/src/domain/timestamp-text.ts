const dayMs = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, index) => String(index).padStart(2, '0'))
const threeDigits = Array.from({ length: 1000 }, (_, index) => String(index).padStart(3, '0'))

let lastDay = Number.NaN
let lastDayText = ''

/** `2026-03-01 12:34:56.789` in UTC. The day is remembered, because neighbours in a log share it. */
export function timestampText(unixMs: number): string {
  const day = Math.floor(unixMs / dayMs)
  if (day !== lastDay) {
    lastDayText = new Date(day * dayMs).toISOString().slice(0, 10)
    lastDay = day
  }
  const inDayMs = unixMs - day * dayMs
  const second = Math.floor(inDayMs / 1000)
  const minute = Math.floor(second / 60)
  const time = `${twoDigits[Math.floor(minute / 60)]}:${twoDigits[minute % 60]}:${twoDigits[second % 60]}`
  return `${lastDayText} ${time}.${threeDigits[inDayMs % 1000]}`
}

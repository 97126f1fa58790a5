import type { ReactElement } from 'react'
import { formatDay, formatTime, formatUtc } from '../formats/times.ts'

/** Shows an instant in the shown time zone, and in UTC while the pointer is over it. */
export function Time({
  instant,
  isDay = false,
}: {
  readonly instant: string
  readonly isDay?: boolean
}): ReactElement {
  return (
    <time dateTime={instant} title={formatUtc(instant)}>
      {isDay ? formatDay(instant) : formatTime(instant)}
    </time>
  )
}

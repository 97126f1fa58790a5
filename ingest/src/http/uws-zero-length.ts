/**
 * Returns whether the head announces an empty body. If such a head arrived in more than one packet, uWebSockets.js may never call
 * `onData`, so the exchanges do not wait for that call.
 */
export function isZeroLength(announcedLength: string): boolean {
  return announcedLength !== '' && Number(announcedLength) === 0
}

/**
 * Whether the head says that the body is empty. uWebSockets.js may never call `onData` for such a request, namely when
 * its head came in more than one packet, so the exchanges do not wait for it.
 */
export function isZeroLength(announcedLength: string): boolean {
  return announcedLength !== '' && Number(announcedLength) === 0
}

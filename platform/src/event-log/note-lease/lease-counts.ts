/** Plain numbers, because they are counted for every limit check. */
export class LeaseCounts {
  /** Heads that a note answered. */
  trusted = 0
  /** Heads that the log was asked for. */
  asked = 0
  /** Commits whose acknowledgement had to wait for more than a note. */
  held = 0
}

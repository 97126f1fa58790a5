/** A stable error code. */
export type ErrorDefinition = {
  /** HTTP statuses with which the code is returned. */
  readonly statuses: readonly number[]
  readonly meaning: string
  /** What the client should do. */
  readonly action: string
}

export function define(
  statuses: number | readonly number[],
  meaning: string,
  action: string,
): ErrorDefinition {
  return { statuses: typeof statuses === 'number' ? [statuses] : statuses, meaning, action }
}

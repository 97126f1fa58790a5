/** One stable code of an error. */
export type ErrorDefinition = {
  /** HTTP statuses that the code comes with. */
  readonly statuses: readonly number[]
  readonly meaning: string
  /** What the client does about it. */
  readonly action: string
}

export function define(
  statuses: number | readonly number[],
  meaning: string,
  action: string,
): ErrorDefinition {
  return { statuses: typeof statuses === 'number' ? [statuses] : statuses, meaning, action }
}

/** Parameters of `settle-part-until-killed.ts`. */
export type PartToSettle = {
  readonly dataDir: string
  readonly customerRef: string
  readonly reservationId: string
  readonly usageRef: string
  readonly units: number
  /** Whether a wallet pays for the usage. */
  readonly isPaid: boolean
  /** The effect after which the process kills itself. */
  readonly lastEffect: 'credits held' | 'logged' | 'counted' | 'reduced'
}

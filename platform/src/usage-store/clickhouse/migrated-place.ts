/** The database and cluster that the statements of a migration apply to. */
export type MigratedPlace = {
  readonly database: string
  /** Name of the cluster. Undefined for a single server. */
  readonly cluster: string | undefined
}

/** Returns the clause that runs a statement on all servers; empty for a single server. */
export function onCluster({ cluster }: MigratedPlace): string {
  return cluster === undefined ? '' : ` ON CLUSTER \`${cluster}\``
}

/** What the statements of a migration need to know of the place they are run in. */
export type MigratedPlace = {
  readonly database: string
  /** Name of the cluster; undefined: a single server. */
  readonly cluster: string | undefined
}

/** The clause that makes a statement one of all servers; empty for a single one. */
export function onCluster({ cluster }: MigratedPlace): string {
  return cluster === undefined ? '' : ` ON CLUSTER \`${cluster}\``
}

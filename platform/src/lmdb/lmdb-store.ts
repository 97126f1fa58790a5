import type { RootDatabase } from 'lmdb'

/** One database per LMDB environment: readers cannot open named databases while the writer creates them. */
export type LmdbStore = RootDatabase<Buffer, Buffer>

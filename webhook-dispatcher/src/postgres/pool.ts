import type { Database } from '@tollgate/platform/database/database'

/** The PostgreSQL connection pool of one environment. */
export type Pool = ReturnType<Database['in']>

import type { Database } from '@tollgate/platform/database/database'

/** Of one environment. */
export type Pool = ReturnType<Database['in']>

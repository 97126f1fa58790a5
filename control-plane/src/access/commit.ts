import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import type { Clock } from '@tollgate/platform/clock/clock'

export { commitAndPublish as commit } from '@tollgate/domain/publishing/commit-and-publish'

/** The parts with which a request commits changes. `operationOf` reads the time of the change from the clock. */
export type ChangeParts = CommitParts & { readonly clock: Clock }

import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import type { Clock } from '@tollgate/platform/clock/clock'

export { commitAndPublish as commit } from '@tollgate/domain/publishing/commit-and-publish'

/** What a request changes things with: `operationOf` takes its instant from the clock. */
export type ChangeParts = CommitParts & { readonly clock: Clock }

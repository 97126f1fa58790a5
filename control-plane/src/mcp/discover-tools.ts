import { recordTools, type RecordToolsOutcome } from '@tollgate/domain/mcp/record-tools'
import { originAuthPlace, type McpServer } from '@tollgate/domain/catalog/mcp-servers-repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import { commit } from '../access/commit.ts'
import { listOriginTools, type Origin } from './list-origin-tools.ts'

export type ToolDiscoveryParts = CommitParts & {
  readonly secrets: Secrets
  readonly outbound: Pick<Outbound, 'of'>
  readonly limits: { readonly mcpDiscoveryTimeoutMs: number }
}

export type DiscoveryOutcome =
  RecordToolsOutcome | { readonly kind: 'failed'; readonly message: string }

/**
 * Lists the tools of the origin of an MCP product and stores them. No lock is held during the request to the origin. If the request
 * fails, nothing changes.
 */
export async function discoverTools(
  parts: ToolDiscoveryParts,
  operation: Operation,
  server: McpServer,
): Promise<DiscoveryOutcome> {
  const { environment, providerId } = operation
  const { productRef, originUrl } = server
  const { fetch } = parts.outbound.of(environment)
  const origin = { url: originUrl, headers: authHeaders(parts, providerId, server) }
  const listed = await listOriginTools(fetch, origin, parts.limits.mcpDiscoveryTimeoutMs)
  if (listed.kind === 'failed') {
    parts.logger.info(
      { productRef, reason: listed.message },
      'could not list the tools of an MCP server',
    )
    return listed
  }
  const outcome = await commit(parts, operation, (work) =>
    recordTools(work, productRef, originUrl, listed.tools),
  )
  if (outcome.kind === 'recorded' && outcome.added.length + outcome.removed.length > 0) {
    const { added, removed } = outcome
    parts.logger.info({ productRef, added, removed }, 'the tools of an MCP server have changed')
  }
  return outcome
}

function authHeaders(
  { secrets }: { readonly secrets: Secrets },
  providerId: string,
  { auth }: McpServer,
): Origin['headers'] {
  if (auth === undefined) return {}
  return { [auth.header]: secrets.open(auth.sealedValue, originAuthPlace(providerId)) }
}

import { hasOnlyPublicTools } from '../gate/plan-access.ts'
import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { appsExtension } from '../apps/apps-extension.ts'
import { sessionVersions, statelessVersions } from '../protocol/versions.ts'
import { cachingOf } from './caching.ts'
import { withProxyResources, withoutProxyTemplates } from './proxy-resources.ts'
import type { ServedRequest } from './served-request.ts'

type Served = Pick<ServedRequest, 'parts' | 'server' | 'client'>

/** Returns the result as the client gets it. Returns the same object if nothing is changed. Unknown members are kept. */
export function editResult(served: Served, method: string, result: JsonObject): JsonObject {
  switch (method) {
    case 'tools/list':
      return editToolList(served, result)
    case 'resources/list': {
      const isLastPage = !isCursor(result['nextCursor'])
      return keepPrivate(served, withProxyResources(served, result, isLastPage))
    }
    case 'resources/templates/list':
      return keepPrivate(served, withoutProxyTemplates(result))
    case 'initialize':
      return { ...result, capabilities: editCapabilities(served, result['capabilities']) }
    case 'server/discover':
      return keepPrivate(served, editDiscovery(served, result))
    default:
      return keepPrivate(served, result)
  }
}

function editToolList({ parts, server, client }: Served, result: JsonObject): JsonObject {
  const listed = Array.isArray(result['tools']) ? (result['tools'] as unknown[]) : []
  const isLastPage = !isCursor(result['nextCursor'])
  const tools = parts.gate.adaptTools(server, client, listed.filter(isPlainObject), isLastPage)
  // The callable tools depend on the customer's plan, so caches must not share a list between customers.
  return { ...result, tools, ...(client.era === 'stateless' && cachingOf(parts.config)) }
}

/** Returns whether more pages follow. Some servers send null or an empty string on the last page. */
export function isCursor(cursor: unknown): boolean {
  return typeof cursor === 'string' && cursor !== ''
}

function editDiscovery(served: Served, result: JsonObject): JsonObject {
  const versions = result['supportedVersions']
  const isKnown = (version: unknown): boolean =>
    statelessVersions.has(String(version)) || sessionVersions.has(String(version))
  return {
    ...result,
    capabilities: editCapabilities(served, result['capabilities']),
    ...(Array.isArray(versions) && { supportedVersions: versions.filter(isKnown) }),
  }
}

const tasksExtension = 'io.modelcontextprotocol/tasks'

/**
 * Announces tools even if the origin has none, because the proxy has its own. Announces resources to clients that show views.
 * Removes tasks, because the proxy cannot see how a task ends.
 */
function editCapabilities({ client }: Served, given: unknown): JsonObject {
  const { tasks: _tasks, extensions, ...others } = isPlainObject(given) ? given : {}
  const capabilities = { ...others, tools: isPlainObject(others['tools']) ? others['tools'] : {} }
  const { [tasksExtension]: _extension, ...kept } = isPlainObject(extensions) ? extensions : {}
  if (!client.showsApps) {
    return isPlainObject(extensions) ? { ...capabilities, extensions: kept } : capabilities
  }
  return {
    ...capabilities,
    resources: isPlainObject(others['resources']) ? others['resources'] : {},
    extensions: { [appsExtension]: {}, ...kept },
  }
}

/** Makes a result private if the server requires a token, so that caches do not share it between tokens. */
function keepPrivate({ server }: Served, result: JsonObject): JsonObject {
  if (result['cacheScope'] !== 'public' || hasOnlyPublicTools(server)) return result
  return { ...result, cacheScope: 'private' }
}

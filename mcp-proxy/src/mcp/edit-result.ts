import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { appsExtension } from '../apps/own-resources.ts'
import { sessionVersions, statelessVersions } from '../protocol/versions.ts'
import { isOpenToAll } from '../tokens/is-open-to-all.ts'
import { cachingOf } from './caching.ts'
import { withOwnResources, withoutOwnTemplates } from './own-resources.ts'
import type { ServedRequest } from './served-request.ts'

type Served = Pick<ServedRequest, 'parts' | 'server' | 'client'>

/** Returns the result as the client gets it; the same object where nothing is changed. Members that are not known stay. */
export function editResult(served: Served, method: string, result: JsonObject): JsonObject {
  switch (method) {
    case 'tools/list':
      return editToolList(served, result)
    case 'resources/list': {
      const isLastPage = !isCursor(result['nextCursor'])
      return keepPrivate(served, withOwnResources(served, result, isLastPage))
    }
    case 'resources/templates/list':
      return keepPrivate(served, withoutOwnTemplates(result))
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
  // What a customer may call depends on the plan, so no list is for anybody else.
  return { ...result, tools, ...(client.era === 'stateless' && cachingOf(parts.config)) }
}

/** Whether a list goes on. Some servers send null or an empty text on the last page. */
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
 * Tools are there even where the origin has none: those of the proxy. For clients that show views so are resources. Tasks would
 * end unseen, and are not offered.
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

/** What needs a token is not shared between tokens. */
function keepPrivate({ server }: Served, result: JsonObject): JsonObject {
  if (result['cacheScope'] !== 'public' || isOpenToAll(server)) return result
  return { ...result, cacheScope: 'private' }
}

import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { accountViewContents, accountViewResource } from '../apps/account-view.ts'
import { accountViewUri, isProxyUri } from '../apps/apps-extension.ts'
import {
  errorCodes,
  errorMessage,
  methodOf,
  paramsOf,
  resultMessage,
  type Message,
  type MessageId,
} from '../protocol/messages.ts'
import { cachingOf } from './caching.ts'
import type { RelayEnd } from './relay.ts'
import type { ServedRequest } from './served-request.ts'

/**
 * Answers a request about a resource of the proxy, or returns undefined for any other request. Such a request never reaches the
 * origin. Clients that show no views get the error that the resource does not exist.
 */
export function answerProxyResource(
  served: ServedRequest,
  message: Message,
  id: MessageId,
): Message | undefined {
  const { uri } = paramsOf(message)
  if (!isProxyUri(uri)) return undefined
  const isView = methodOf(message) === 'resources/read' && uri === accountViewUri
  if (!isView || !served.client.showsApps) return notFound(served, id)
  return resultMessage(id, resultOf(served, { contents: accountViewContents }))
}

/**
 * Answers on behalf of an origin without resources, because the proxy announced resources to clients that show views. Returns
 * undefined if the origin has answered, or has failed for another reason.
 */
export function answerWithoutResources(
  served: ServedRequest,
  method: string,
  end: RelayEnd,
  id: MessageId,
): Message | undefined {
  if (!served.client.showsApps || !isUnknownMethod(end)) return undefined
  switch (method) {
    case 'resources/list':
      return resultMessage(id, resultOf(served, { resources: [accountViewResource] }))
    case 'resources/templates/list':
      return resultMessage(id, resultOf(served, { resourceTemplates: [] }))
    case 'resources/read':
      return notFound(served, id)
    default:
      return undefined
  }
}

/**
 * Returns the origin's list without resources under the proxy's URIs, and with the proxy's own resource at the end of the last
 * page.
 */
export function withProxyResources(
  { client }: Pick<ServedRequest, 'client'>,
  result: JsonObject,
  isLastPage: boolean,
): JsonObject {
  const listed = listOf(result['resources'])
  const kept = listed.filter((each) => !isPlainObject(each) || !isProxyUri(each['uri']))
  const own = client.showsApps && isLastPage ? [accountViewResource] : []
  if (kept.length === listed.length && own.length === 0) return result
  return { ...result, resources: [...kept, ...own] }
}

export function withoutProxyTemplates(result: JsonObject): JsonObject {
  const listed = listOf(result['resourceTemplates'])
  const kept = listed.filter((each) => !isPlainObject(each) || !isProxyUri(each['uriTemplate']))
  return kept.length === listed.length ? result : { ...result, resourceTemplates: kept }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function resultOf({ parts, client }: ServedRequest, result: JsonObject): JsonObject {
  if (client.era === 'sessions') return result
  return { resultType: 'complete', ...result, ...cachingOf(parts.config) }
}

/** Error code of the versions with sessions. The stateless versions use the code of invalid parameters instead. */
const resourceNotFound = -32_002

function notFound({ client }: ServedRequest, id: MessageId): Message {
  const code = client.era === 'sessions' ? resourceNotFound : errorCodes.invalidParams
  return errorMessage(id, code, 'Resource not found.')
}

function isUnknownMethod(end: RelayEnd): boolean {
  const answer = end.kind === 'answered' ? end.received.message : undefined
  const given = end.kind === 'refused' ? end.error : answer
  const error = given?.['error']
  return isPlainObject(error) && error['code'] === errorCodes.unknownMethod
}

import { MutationCache, QueryClient } from '@tanstack/react-query'
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch'
import createQueryHooks, { type OpenapiQueryClient } from 'openapi-react-query'
import type { Environment } from '@tollgate/schemas/environment'
import { consolePath, installationUrl } from './addresses.ts'
import type { paths } from './openapi.d.ts'
import { ApiProblem, problemOf } from './problem.ts'

/** The API in one environment. Nothing that was read in one environment can show up in the other. */
export type EnvironmentApi = {
  readonly environment: Environment
  readonly fetch: Client<paths>
  readonly hooks: OpenapiQueryClient<paths>
  readonly queries: QueryClient
}

const environmentHeader = 'tollgate-environment'

export function createEnvironmentApi(environment: Environment): EnvironmentApi {
  const fetch = createFetchClient<paths>({
    baseUrl: installationUrl,
    credentials: 'same-origin',
    Request: UserRequest,
  })
  fetch.use(consoleRequests(environment))
  return {
    environment,
    fetch,
    hooks: createQueryHooks(fetch),
    queries: createQueries(),
  }
}

/**
 * A request at the path for users. Operations that programs use too are described once, under `/v1/sdk`; users reach them under
 * `/v1/ui`. The path is changed before the request exists: a copy of a request would send its body as a stream, which browsers
 * refuse on HTTP/1.1.
 */
class UserRequest extends Request {
  constructor(input: RequestInfo | URL, init?: RequestInit) {
    super(typeof input === 'string' ? pathForUsers(input) : input, init)
  }
}

function pathForUsers(url: string): string {
  return url
    .replace('/v1/sdk/', '/v1/ui/')
    .replace('/v1/webhook_endpoints', '/v1/ui/webhook_endpoints')
}

/** The cookie of the browser authenticates the request, together with the header that names the environment. */
function consoleRequests(environment: Environment): Middleware {
  return {
    onRequest: ({ request }) => {
      request.headers.set(environmentHeader, environment)
      return request
    },
    onResponse: async ({ response }) => {
      if (response.ok) return undefined
      if (response.status === 401) openSignIn()
      throw await problemOf(response)
    },
    onError: () =>
      new ApiProblem(0, 'Tollgate cannot be reached. Check your connection.', null, null),
  }
}

/** Leaves for the sign-in page, which returns to the current page. */
export function openSignIn(): void {
  const path = `/console/${location.pathname.slice(consolePath.length)}${location.search}`
  location.assign(`${consolePath}sign-in?next=${encodeURIComponent(path)}`)
}

const retriesMax = 2

function createQueries(): QueryClient {
  const queries: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // A refusal stays one when it is repeated. A part that is down or behind may be back.
        retry: (failures, error) => failures < retriesMax && isTransient(error),
      },
      // A change is never repeated by itself.
      mutations: { retry: false },
    },
    // Whatever was shown before a change may show something else after it.
    mutationCache: new MutationCache({ onSettled: () => queries.invalidateQueries() }),
  })
  return queries
}

function isTransient(error: Error): boolean {
  return !(error instanceof ApiProblem) || error.status === 0 || error.status >= 500
}

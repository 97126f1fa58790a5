import { MutationCache, QueryClient } from '@tanstack/react-query'
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch'
import createQueryHooks, { type OpenapiQueryClient } from 'openapi-react-query'
import { environmentHeader, userHeader, type Environment } from '@tollgate/schemas/environment'
import type { Answer } from './answers.ts'
import { consolePath, installationUrl } from './addresses.ts'
import type { paths } from './openapi.d.ts'
import { ApiProblem, problemOf } from './problem.ts'

/** The API in one environment. Each environment has its own cache, so none shows data of the other. */
export type EnvironmentApi = {
  readonly environment: Environment
  readonly fetch: Client<paths>
  readonly hooks: OpenapiQueryClient<paths>
  readonly queries: QueryClient
}

/** The browser's cookie authenticates a request, together with the header that names the environment. */
export function createEnvironmentApi(environment: Environment): EnvironmentApi {
  const fetch = createFetchClient<paths>({
    baseUrl: installationUrl,
    credentials: 'same-origin',
    headers: { [environmentHeader]: environment },
    Request: UserRequest,
  })
  fetch.use(problems)
  fetch.use(sameUser)
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

/** The user for whom this page was loaded, once the API has named the user. */
let userId: string | undefined

/**
 * Names the user of this page in each request. After another user signed in in another tab, the API refuses the requests of this page,
 * which then leads to the sign-in and loads again.
 */
const sameUser: Middleware = {
  onRequest: ({ request }) => {
    if (userId !== undefined) request.headers.set(userHeader, userId)
  },
  onResponse: async ({ response, schemaPath }) => {
    if (userId !== undefined || schemaPath !== '/v1/ui/auth/me' || !response.ok) return
    const { user } = (await response.clone().json()) as Answer<'getSignedInUser'>
    userId = user.userId
  },
}

/** Throws the problem of each response that is not OK. */
const problems: Middleware = {
  onResponse: async ({ response }) => {
    if (response.ok) return undefined
    if (response.status === 401) openSignIn()
    throw await problemOf(response)
  },
  onError: () =>
    new ApiProblem(0, 'Tollgate cannot be reached. Check your connection.', null, null),
}

/** Opens the sign-in page, from which the user returns to the current page. */
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
        // A repeated request is refused again. A service that was down or behind may be ready.
        retry: (failures, error) => failures < retriesMax && isTransient(error),
      },
      // Changes are never repeated automatically.
      mutations: { retry: false },
    },
    // A change can affect any data on the page, so everything is read again.
    mutationCache: new MutationCache({ onSettled: () => queries.invalidateQueries() }),
  })
  return queries
}

function isTransient(error: Error): boolean {
  return !(error instanceof ApiProblem) || error.status === 0 || error.status >= 500
}

import createRouter, { type HTTPMethod } from 'find-my-way'
import type { ApiServer } from '../../access/api-server.ts'

/** Returns the methods that a path allows, or an empty list if no operation has the path. */
export type AllowedMethods = (path: string) => readonly string[]

/** Methods in the order of the Allow header. */
const methods: readonly HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Records the routes that are registered after it. `elsewhere` lists the paths that the data plane serves with POST. Routes with a
 * wildcard do not count, because they match paths where nothing is served.
 */
export function installAllowedMethods(
  app: ApiServer,
  pathCharsMax: number,
  postPaths: readonly string[],
): AllowedMethods {
  const router = createRouter({ maxParamLength: pathCharsMax })
  const recordRoute = (method: HTTPMethod, path: string): void => {
    if (path.includes('*') || router.hasRoute(method, path)) return
    router.on(method, path, () => undefined)
  }
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) recordRoute(each as HTTPMethod, url)
  })
  for (const path of postPaths) recordRoute('POST', path)
  return (path) => methods.filter((method) => router.find(method, path) !== null)
}

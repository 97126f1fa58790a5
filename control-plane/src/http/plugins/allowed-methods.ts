import createRouter, { type HTTPMethod } from 'find-my-way'
import type { ApiServer } from '../../access/api-server.ts'

/** Returns the methods that a path takes; an empty list if no operation has the path. */
export type AllowedMethods = (path: string) => readonly string[]

/** In the order of the Allow header. */
const methods: readonly HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Notes the routes that are registered after it. `elsewhere` are the paths that the data plane serves with POST. Routes with a
 * wildcard do not count: they answer for paths that nothing is at.
 */
export function installAllowedMethods(
  app: ApiServer,
  pathCharsMax: number,
  elsewhere: readonly string[],
): AllowedMethods {
  const router = createRouter({ maxParamLength: pathCharsMax })
  const note = (method: HTTPMethod, path: string): void => {
    if (path.includes('*') || router.hasRoute(method, path)) return
    router.on(method, path, () => undefined)
  }
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) note(each as HTTPMethod, url)
  })
  for (const path of elsewhere) note('POST', path)
  return (path) => methods.filter((method) => router.find(method, path) !== null)
}

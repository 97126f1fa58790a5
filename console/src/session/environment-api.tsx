import { QueryClientProvider } from '@tanstack/react-query'
import { createContext, useContext, type ReactElement, type ReactNode } from 'react'
import type { Environment } from '@tollgate/schemas/environment'
import { createEnvironmentApi, type EnvironmentApi } from '../api/client.ts'

const apis: Readonly<Record<Environment, EnvironmentApi>> = {
  sandbox: createEnvironmentApi('sandbox'),
  live: createEnvironmentApi('live'),
}

const ApiContext = createContext<EnvironmentApi | undefined>(undefined)

/** Provides the API of the environment to the components below it. */
export function EnvironmentProvider(props: {
  readonly environment: Environment
  readonly children: ReactNode
}): ReactElement {
  const api = apis[props.environment]
  return (
    <ApiContext value={api}>
      <QueryClientProvider client={api.queries}>{props.children}</QueryClientProvider>
    </ApiContext>
  )
}

/** Returns the API in the environment of the page. */
export function useApi(): EnvironmentApi {
  const api = useContext(ApiContext)
  if (api === undefined) throw new Error('useApi is used outside of an EnvironmentProvider')
  return api
}

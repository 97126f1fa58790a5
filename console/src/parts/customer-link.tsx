import type { ReactElement, ReactNode } from 'react'
import { useApi } from '../session/environment-api.tsx'
import { PageLink } from './page-link.tsx'

/** Links to the page of the customer in the environment of the page. */
export function CustomerLink(props: {
  readonly customerRef: string
  readonly children: ReactNode
}): ReactElement {
  const { customerRef, children } = props
  const { environment } = useApi()
  return (
    <PageLink to="/$environment/customers/$customerRef" params={{ environment, customerRef }}>
      {children}
    </PageLink>
  )
}

import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import { useApi } from '../session/environment-api.tsx'

/** Links to the page of the customer in the environment of the page. */
export function CustomerLink(props: {
  readonly customerRef: string
  readonly children: ReactNode
}): ReactElement {
  const { customerRef, children } = props
  const { environment } = useApi()
  return (
    <Anchor
      size="sm"
      renderRoot={(rootProps) => (
        <Link
          to="/$environment/customers/$customerRef"
          params={{ environment, customerRef }}
          {...rootProps}
        />
      )}
    >
      {children}
    </Anchor>
  )
}

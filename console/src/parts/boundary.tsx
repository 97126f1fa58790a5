import { Center, Loader } from '@mantine/core'
import { QueryErrorResetBoundary } from '@tanstack/react-query'
import { Component, Suspense, type ReactElement, type ReactNode } from 'react'
import { Failure } from './failure.tsx'

type Props = { readonly onReset: () => void; readonly children: ReactNode }

/** Shows the error of its part of the page, while the rest of the page works. */
class FailureBoundary extends Component<Props, { readonly error: Error | undefined }> {
  override readonly state: { readonly error: Error | undefined } = { error: undefined }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    const retry = () => {
      this.props.onReset()
      this.setState({ error: undefined })
    }
    return <Failure error={error} onRetry={retry} />
  }
}

export function Loading(): ReactElement {
  return (
    <Center p="xl">
      <Loader size="sm" aria-label="Loading" role="status" />
    </Center>
  )
}

/** Contains a part of a page that loads, and may fail, independently of the rest. */
export function Boundary({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <QueryErrorResetBoundary>
      {({ reset }) => (
        <FailureBoundary onReset={reset}>
          <Suspense fallback={<Loading />}>{children}</Suspense>
        </FailureBoundary>
      )}
    </QueryErrorResetBoundary>
  )
}

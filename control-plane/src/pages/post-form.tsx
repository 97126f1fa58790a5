import type { ReactElement, ReactNode } from 'react'

type PostFormProps = {
  readonly page: { readonly path: string; readonly formToken: string }
  /** Path below the path of the page. */
  readonly path: string
  /** Whether a script updates the named parts of the form when its fields change. */
  readonly isUpdated?: boolean
  readonly children: ReactNode
}

/** A form that changes data. Every such form on a hosted page uses this component, which adds the form token. */
export function PostForm({ page, path, isUpdated = false, children }: PostFormProps): ReactElement {
  return (
    <form method="post" action={page.path + path} data-updated={isUpdated ? 'yes' : undefined}>
      <input type="hidden" name="formToken" value={page.formToken} />
      {children}
    </form>
  )
}

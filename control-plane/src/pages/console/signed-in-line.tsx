import type { ReactElement } from 'react'
import type { ProviderFrame } from '../provider/provider-page.tsx'
import type { ConsoleVisitor } from './console-session.ts'

type ConsoleView = { readonly frame: ProviderFrame; readonly visitor: ConsoleVisitor }

export const signOutPath = '/console/sign-out'

/** Shows which user is signed in. */
export function SignedInLine(shown: ConsoleView): ReactElement {
  return (
    <div className="row wrap quiet small">
      <span>Signed in as {shown.visitor.session.email}</span>
      <SignOutForm {...shown} />
    </div>
  )
}

function SignOutForm({ frame, visitor }: ConsoleView): ReactElement {
  return (
    <form method="post" action={frame.basePath + signOutPath}>
      <input type="hidden" name="formToken" value={visitor.formToken} />
      <button className="button" type="submit">
        Sign out
      </button>
    </form>
  )
}

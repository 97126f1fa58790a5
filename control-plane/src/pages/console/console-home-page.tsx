import type { ReactElement } from 'react'
import type { Provider } from '@tollgate/domain/providers/repository'
import { ProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import type { ConsoleVisitor } from './console-session.ts'

type ConsoleView = { readonly frame: ProviderFrame; readonly visitor: ConsoleVisitor }

export const signOutPath = '/console/sign-out'

/** The page at `/console` for a signed-in user. */
export function ConsoleHomePage(
  props: ConsoleView & { readonly provider: Provider },
): ReactElement {
  const { frame, visitor, provider } = props
  const { name, email, role } = visitor.session
  return (
    <ProviderPage frame={frame} title="Console" narrow>
      <div className="card">
        <h1>{provider.name}</h1>
        <dl className="facts stacked">
          <div>
            <dt>Signed in as</dt>
            <dd>{name === null ? email : `${name} (${email})`}</dd>
          </div>
          <div>
            <dt>Role</dt>
            <dd className="capital">{role}</dd>
          </div>
          <div>
            <dt>Provider</dt>
            <dd>{provider.providerId}</dd>
          </div>
        </dl>
        <ul>
          <li>
            <a href={`${frame.basePath}/docs`}>API reference</a>
          </li>
          <li>
            <a href={`${frame.basePath}/`}>First steps</a>
          </li>
        </ul>
        <SignOutForm frame={frame} visitor={visitor} />
      </div>
    </ProviderPage>
  )
}

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

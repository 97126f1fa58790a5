import type { ReactElement, ReactNode } from 'react'
import { NoticeLine, type Notice } from '../notice.tsx'
import { Page } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import type { Portal } from './portal.ts'

/** The parts of the portal, in the order of their links. */
const sections = [
  { name: 'plans', label: 'Plans', path: '' },
  { name: 'credits', label: 'Credits', path: '/credits' },
  { name: 'invoices', label: 'Invoices', path: '/invoices' },
  { name: 'payment', label: 'Payment', path: '/payment' },
] as const

type SectionName = (typeof sections)[number]['name']

type PortalPageProps = {
  readonly portal: Portal
  readonly section: SectionName
  readonly title: string
  readonly notice?: Notice | undefined
  readonly scripts?: readonly string[]
  readonly children: ReactNode
}

export function PortalPage({
  portal,
  section,
  title,
  notice,
  scripts = [],
  children,
}: PortalPageProps): ReactElement {
  const { frame } = portal
  return (
    <Page
      frame={frame}
      title={title}
      navigation={<Navigation portal={portal} section={section} />}
      scripts={[frame.files.script, ...scripts]}
    >
      <NoticeLine notice={notice} />
      {children}
    </Page>
  )
}

function Navigation(props: {
  readonly portal: Portal
  readonly section: SectionName
}): ReactElement {
  const { portal, section } = props
  return (
    <nav className="wide row tabs" aria-label="Your account">
      <ul>
        {sections.map(({ name, label, path }) => (
          <li key={name}>
            <a href={portal.path + path} aria-current={name === section ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
      <PostForm page={portal} path="/sign-out">
        <button
          className="button plain"
          type="submit"
          title={`Signed in as ${portal.customer.email}`}
        >
          Sign out
        </button>
      </PostForm>
    </nav>
  )
}

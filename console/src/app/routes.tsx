/** Which page is at which address; each is loaded when it is first opened. */
import { createBrowserRouter, Navigate } from 'react-router'

import { Crashed } from './Crashed'
import { Home } from './Home'
import { Knowledge } from './Knowledge'
import { NotFound } from './NotFound'
import { Shell } from './Shell'

export const createRoutes = () =>
  createBrowserRouter(
    [
      {
        path: '/',
        Component: Shell,
        ErrorBoundary: Crashed,
        HydrateFallback: () => null,
        children: [
          { index: true, Component: Home },
          { path: 'signed-in', lazy: () => import('../session/SignedIn') },
          {
            path: 'knowledge/:owner',
            Component: Knowledge,
            ErrorBoundary: Crashed,
            children: [
              { index: true, element: <Navigate to="entries" replace /> },
              { path: 'entries', lazy: () => import('../pages/entries/EntriesPage') },
              { path: 'entries/:entry/:page?', lazy: () => import('../pages/entry/EntryPage') },
              { path: 'materials/:material?', lazy: () => import('../pages/materials/MaterialsPage') },
              { path: 'skill-experience', lazy: () => import('../pages/skills/SkillsPage') },
              { path: 'dreaming', lazy: () => import('../pages/dreaming/DreamingPage') },
              { path: 'audit', lazy: () => import('../pages/audit/AuditPage') },
              { path: 'status', lazy: () => import('../pages/status/StatusPage') },
              { path: 'trace/:node', lazy: () => import('../pages/trace/TracePage') },
              { path: 'compare', lazy: () => import('../pages/compare/ComparePage') },
              { path: '*', Component: NotFound },
            ],
          },
          { path: 'agents/:agent/library', lazy: () => import('../pages/library/LibraryPage') },
          { path: 'settings/memory', lazy: () => import('../pages/settings/SettingsPage') },
          {
            path: 'developers',
            lazy: () => import('../developers').then((page) => ({ Component: page.default })),
          },
          { path: '*', Component: NotFound },
        ],
      },
    ],
    { basename: '/console' },
  )

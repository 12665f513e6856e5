// The site: the pages of docs, with search. `make site` builds it.
import fs from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitepress'
import { docs, inOrder, linkOf, repository, sidebar, slugify, titleAt } from './pages.mts'

const vue = path.join(docs, '.vitepress/node_modules/vue')
const atTheIndex = (page: string) => page.replace(/(^|\/)README\.md$/, '$1index.md')

export default defineConfig({
  title: 'Understudy',
  description: 'Typed actors for Go, in one process or in a cluster.',
  lang: 'en',
  base: process.env.SITE_BASE ?? '/',
  ignoreDeadLinks: 'localhostLinks', // of programs that the reader runs
  cleanUrls: true,
  srcExclude: ['**/node_modules/**'],
  rewrites: atTheIndex,
  head: [['meta', { name: 'theme-color', content: '#3451b2' }]],
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      // VitePress resolves links afterwards, when it renders them.
      md.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
        const page = path.relative(docs, env.realPath ?? env.path).split(path.sep).join('/')
        tokens.forEach(({ children }, i) => {
          const cell = tokens[i - 1]?.type === 'td_open' ? tokens[i - 1] : undefined
          children?.forEach((token, j) => {
            if (token.type !== 'link_open') return
            const href = token.attrGet('href') ?? ''
            token.attrSet('href', linkOf(page, href))
            // Lists of pages show titles where the repository has names of files.
            const text = children[j + 1]
            if (cell && (text.content === href || text.content === path.posix.basename(href))) text.content = titleAt(page, href) ?? text.content
          })
          // Columns of text stay readable beside wide ones, and numbers beside their units.
          const length = children?.filter(({ type }) => type === 'text').reduce((sum, { content }) => sum + content.length, 0) ?? 0
          if (length > 40) cell?.attrJoin('class', 'long')
          if (length < 12) cell?.attrJoin('class', 'short')
        })
      })
      // Tables scroll within the page, and can be scrolled with the keyboard.
      md.renderer.rules.table_open = () => '<div class="table" tabindex="0" role="region" aria-label="Table"><table>\n'
      md.renderer.rules.table_close = () => '</table></div>\n'
      // The theme draws diagrams in the browser.
      const fence = md.renderer.rules.fence!
      md.renderer.rules.fence = (tokens, i, ...rest) => tokens[i].info.trim() === 'mermaid'
        ? `<Diagram source="${encodeURIComponent(tokens[i].content)}" />\n`
        : fence(tokens, i, ...rest)
      // Indented code looks like fenced code.
      md.renderer.rules.code_block = fence
    },
  },
  themeConfig: {
    nav: [
      { text: 'Reference', link: '/glossary', activeMatch: '^/(glossary|status|cli|monitoring|tracing|stability)' },
      { text: 'API', link: 'https://pkg.go.dev/github.com/understudy-go/understudy' },
      { text: 'Changes', link: repository + '/blob/main/CHANGELOG.md' },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      // Pages for people who use Understudy come first.
      options: { miniSearch: { searchOptions: { boostDocument: (id) => (/\/(contributing\/|decisions)/.test(id) ? 0.3 : 1) } } },
    },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: {
      pattern: repository + '/edit/main/docs/:path',
      text: 'Edit this page on GitHub',
    },
  },
  transformPageData(page) {
    const href = (process.env.SITE_BASE ?? '/') + atTheIndex(page.filePath)
    page.frontmatter.head = [...(page.frontmatter.head ?? []), ['link', { rel: 'alternate', type: 'text/markdown', href }]]
  },
  // For programs that read: each page is there as Markdown, too. llms.txt names the pages, and
  // llms-full.txt has all of them.
  buildEnd({ outDir }) {
    fs.copyFileSync(path.join(docs, 'llms.txt'), path.join(outDir, 'llms.txt'))
    for (const page of inOrder()) fs.copyFileSync(path.join(docs, page), path.join(outDir, atTheIndex(page)))
    const pages = inOrder().map((page) => `<!-- docs/${page} -->\n\n` + fs.readFileSync(path.join(docs, page), 'utf8').trim())
    fs.writeFileSync(path.join(outDir, 'llms-full.txt'), pages.join('\n\n') + '\n')
  },
  vite: {
    build: { chunkSizeWarningLimit: 4000 },
    // Pages import Vue, and are above node_modules.
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: path.join(vue, 'server-renderer/index.mjs') },
        { find: /^vue$/, replacement: path.join(vue, 'dist/vue.runtime.esm-bundler.js') },
      ],
    },
  },
})

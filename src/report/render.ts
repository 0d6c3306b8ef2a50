import type { Report } from './report.ts';
import type { TextOptions } from './text.ts';

/** A report in one of its formats; each is loaded when it is asked for. */
export const renderReport = async (report: Report, format: string, text: TextOptions): Promise<string> => {
  switch (format) {
    case 'json':
      return (await import('./report.ts')).renderJson(report);
    case 'markdown':
      return (await import('./markdown.ts')).renderMarkdown(report);
    case 'html':
      return (await import('./html.ts')).renderHtml(report);
    default:
      return (await import('./text.ts')).renderText(report, text);
  }
};

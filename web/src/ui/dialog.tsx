/** A modal dialog over the page, made of the browser's own, which keeps the focus inside. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { closeOverlay } from '../state/panels.ts';
import { IconButton } from './bits.tsx';

interface DialogProps {
  label: string;
  children: ComponentChildren;
  testId: string;
  /** No title bar: the content brings its own. */
  bare?: boolean;
  class?: string;
  onClose?: () => void;
}

export function Dialog({ label, children, testId, bare = false, class: extra = '', onClose = closeOverlay }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    element.showModal();
    return () => element.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${extra}`}
      aria-label={label}
      data-testid={testId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-leaf">
        {!bare && (
          <header class="dialog-head">
            <h2>{label}</h2>
            <IconButton sign="close" label="Close" onClick={onClose} />
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}

// Package findings lists the findings of the open picture, selects among them, and decides about them; it learns from
// the decisions.
package findings

module blik

go 1.26
